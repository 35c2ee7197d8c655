// The editor for texts: CodeMirror, loaded when the first text is opened.

import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import { syntaxHighlighting } from '@codemirror/language';
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search';
import { EditorState } from '@codemirror/state';
import { drawSelection, EditorView, highlightSpecialChars, keymap, lineNumbers } from '@codemirror/view';
import { classHighlighter } from '@lezer/highlight';
import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

/** A longer line is not wrapped: measuring it for each change would hold up typing. */
const WRAP_MAX = 20_000;

/** The text is taken at the beginning only; give another `key` for another text. */
export default function CodeEditor(props: {
  text: string; label: string; language: 'json' | 'none'; onText(text: string): void; onSave(): void;
}): VNode {
  const parent = useRef<HTMLDivElement>(null);
  const latest = useRef(props);
  latest.current = props;
  useEffect(() => {
    if (parent.current === null) return undefined;
    const view = new EditorView({
      parent: parent.current,
      state: EditorState.create({
        doc: props.text,
        extensions: [
          lineNumbers(),
          highlightSpecialChars(),
          history(),
          drawSelection(),
          highlightSelectionMatches(),
          syntaxHighlighting(classHighlighter),
          // Only line feeds part lines: a carriage return inside must not be rewritten.
          EditorState.lineSeparator.of('\n'),
          props.text.split('\n').every((line) => line.length < WRAP_MAX) ? EditorView.lineWrapping : [],
          props.language === 'json' ? json() : [],
          EditorView.contentAttributes.of({ 'aria-label': props.label }),
          keymap.of([
            { key: 'Mod-s', run: () => (latest.current.onSave(), true) },
            ...defaultKeymap, ...historyKeymap, ...searchKeymap,
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
