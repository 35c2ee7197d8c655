// Light or dark colours: the system's setting, or the person's choice.

import { effect, signal } from '@preact/signals';

export type Theme = 'auto' | 'light' | 'dark';

const KEY = 'edgecask.theme';

const stored = localStorage.getItem(KEY);
export const theme = signal<Theme>(stored === 'light' || stored === 'dark' ? stored : 'auto');

/** Counts up when colours change: canvases subscribe to it and draw again. */
export const colours = signal(0);

export function applyTheme(): void {
  effect(() => {
    document.documentElement.dataset['theme'] = theme.value;
    if (theme.value === 'auto') localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, theme.value);
    colours.value = colours.peek() + 1;
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => (colours.value += 1));
}

export function nextTheme(): void {
  theme.value = theme.value === 'auto' ? 'light' : theme.value === 'light' ? 'dark' : 'auto';
}
