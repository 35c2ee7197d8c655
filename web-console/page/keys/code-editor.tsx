// The editor for texts: CodeMirror, loaded when the first text is opened.
//
// Its root is a shadow root: there CodeMirror adds its styles as constructed style sheets. In the document itself it
// would add <style> elements, which the content security policy forbids.

import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search';
import { EditorState } from '@codemirror/state';
import { drawSelection, EditorView, highlightSpecialChars, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

/** A longer line is not wrapped: measuring it for each change would slow down typing. */
const WRAP_MAX = 20_000;

// Custom properties apply inside the shadow root; rules of the page do not.
const THEME = EditorView.theme({
  '&': { height: '100%', color: 'var(--text)', fontSize: 'var(--size-mono)' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.5' },
  '.cm-content': { caretColor: 'var(--text)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutters': { border: '0', background: 'transparent', color: 'var(--text-soft)' },
  // As specific as CodeMirror's own rule for the focused editor, or that one would win.
  '& .cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground': {
    background: 'var(--selected)',
  },
  '.cm-panels': { background: 'var(--raised)', color: 'var(--text)', borderColor: 'var(--line)' },
  '.cm-specialChar': { color: 'var(--bad)' },
});

const COLOURS = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--type-string)' },
  { tag: tags.string, color: 'var(--type-hash)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--type-list)' },
]);

/** `text` is read only when the editor is created; another text needs another `key`. */
export default function CodeEditor(props: {
  text: string;
  label: string;
  language: 'json' | 'none';
  onText(text: string): void;
  onSave(): void;
}): VNode {
  const parent = useRef<HTMLDivElement>(null);
  const latest = useRef(props);
  latest.current = props;
  useEffect(() => {
    if (parent.current === null) return undefined;
    const shadow = parent.current.attachShadow({ mode: 'open' });
    const view = new EditorView({
      root: shadow,
      parent: shadow,
      state: EditorState.create({
        doc: props.text,
        extensions: [
          lineNumbers(),
          highlightSpecialChars(),
          history(),
          drawSelection(),
          highlightSelectionMatches(),
          syntaxHighlighting(COLOURS),
          THEME,
          // Only line feeds separate lines: CodeMirror must not rewrite a carriage return.
          EditorState.lineSeparator.of('\n'),
          props.text.split('\n').every((line) => line.length < WRAP_MAX) ? EditorView.lineWrapping : [],
          props.language === 'json' ? json() : [],
          EditorView.contentAttributes.of({ 'aria-label': props.label }),
          keymap.of([
            { key: 'Mod-s', run: () => (latest.current.onSave(), true) },
            ...defaultKeymap,
            ...historyKeymap,
            ...searchKeymap,
          ]),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) latest.current.onText(update.state.doc.toString());
          }),
        ],
      }),
    });
    return () => view.destroy();
  }, []);
  return <div class="keys-editor" ref={parent} />;
}
