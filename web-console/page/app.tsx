// The shell: a header with the connection and the database, navigation by the hash of the address, and the chosen page.

import { signal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { ConnectionBadge, ConnectionDialog } from './connection/dialog.tsx';
import { DatabaseChoice } from './connection/database.tsx';
import { ConfirmHost } from './parts/confirm.tsx';
import { Icon, type IconName } from './parts/icon.tsx';
import { ToastHost } from './parts/toast.tsx';
import { ready } from './resp/codec.ts';
import { nextTheme, theme } from './parts/theme.ts';

interface Page {
  name: string;
  label: string;
  icon: IconName;
}

const PAGES: Page[] = [
  { name: 'cli', label: 'Commands', icon: 'terminal' },
  { name: 'keys', label: 'Keys', icon: 'keys' },
  { name: 'sql', label: 'SQL', icon: 'table' },
  { name: 'search', label: 'Search', icon: 'search' },
  { name: 'live', label: 'Live', icon: 'live' },
  { name: 'pubsub', label: 'Pub/sub', icon: 'pubsub' },
  { name: 'monitor', label: 'Monitor', icon: 'monitor' },
  { name: 'functions', label: 'Functions', icon: 'functions' },
  { name: 'users', label: 'Users', icon: 'users' },
];

// Each page is a chunk of its own, loaded when it is first shown; its default export is the component.
const modules = import.meta.glob<{ default: ComponentType }>('./*/index.tsx');

/** `#/keys/anything` is the page `keys`; the page reads the rest of the hash. */
export const route = signal(location.hash);
addEventListener('hashchange', () => (route.value = location.hash));

function currentPage(): Page {
  const name = /^#\/([a-z]+)/.exec(route.value)?.[1];
  return PAGES.find((page) => page.name === name) ?? PAGES[0]!;
}

export function App() {
  const page = currentPage();
  useEffect(() => {
    document.title = `${page.label} · EdgeCask`;
  }, [page]);
  return (
    <>
      <a class="skip" href="#main" onClick={(event) => { event.preventDefault(); document.getElementById('main')?.focus(); }}>
        Skip to the page
      </a>
      <header class="bar">
        <a class="brand" href="#/cli" aria-label="EdgeCask">
          <svg viewBox="0 0 32 32" width="22" height="22" aria-hidden="true">
            <path d="M16 3l11 6v14l-11 6-11-6V9z" fill="currentColor" />
            <path d="M5 9l11 6 11-6M16 15v14" fill="none" class="brand-edge" stroke-width="2" />
          </svg>
          <span>EdgeCask</span>
        </a>
        <nav class="tabs" aria-label="Pages">
          {PAGES.filter((each) => `./${each.name}/index.tsx` in modules).map((each) => (
            <a key={each.name} class="tab" href={`#/${each.name}`} aria-current={each === page ? 'page' : undefined}>
              <Icon name={each.icon} />
              <span>{each.label}</span>
            </a>
          ))}
        </nav>
        <div class="bar-end">
          <DatabaseChoice />
          <ConnectionBadge />
          <ThemeButton />
        </div>
      </header>
      <main id="main" tabIndex={-1} class="main">
        <LazyPage key={page.name} name={page.name} />
      </main>
      <ConnectionDialog />
      <ConfirmHost />
      <ToastHost />
    </>
  );
}

function ThemeButton() {
  const names = { auto: 'as the system', light: 'light', dark: 'dark' };
  const icons = { auto: 'auto', light: 'sun', dark: 'moon' } as const;
  const label = `Colours: ${names[theme.value]}`;
  return (
    <button type="button" class="icon-button" title={label} aria-label={label} onClick={nextTheme}>
      <Icon name={icons[theme.value]} />
    </button>
  );
}

/** A page, drawn once its code and the wasm module are there: every page may call the module's functions. */
function LazyPage(props: { name: string }) {
  const [Component, setComponent] = useState<ComponentType>();
  const [problem, setProblem] = useState('');
  useEffect(() => {
    let wanted = true;
    Promise.all([modules[`./${props.name}/index.tsx`]?.(), ready()]).then(
      ([module]) => wanted && module && setComponent(() => module.default),
      () => wanted && setProblem('This part of the console could not be loaded. Reload the page to try again.'),
    );
    return () => {
      wanted = false;
    };
  }, []);
  if (Component) return <Component />;
  return problem ? <p class="notice error">{problem}</p> : <p class="notice loading" aria-busy="true">Loading…</p>;
}
