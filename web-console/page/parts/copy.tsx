// A button that copies a text and confirms it.

import { useState } from 'preact/hooks';
import { Icon } from './icon.tsx';
import { toast } from './toast.tsx';

/** How long the button shows the check mark. */
const CONFIRMED_MS = 1500;

/** False if the browser forbids it: without https, only pages from loopback may use the clipboard. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // The deprecated way needs no secure context.
    const area = document.createElement('textarea');
    area.value = text;
    area.className = 'off-screen';
    document.body.append(area);
    area.select();
    const copied = document.execCommand('copy');
    area.remove();
    return copied;
  }
}

export function CopyButton(props: { text(): string; label?: string; class?: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    if (!(await copyText(props.text()))) return toast('The browser does not allow copying here', 'error');
    setCopied(true);
    setTimeout(() => setCopied(false), CONFIRMED_MS);
  };
  const label = props.label ?? 'Copy';
  return (
    <button type="button" class={`icon-button ${props.class ?? ''}`} title={label} aria-label={copied ? 'Copied' : label} onClick={() => void copy()}>
      <Icon name={copied ? 'check' : 'copy'} />
    </button>
  );
}
