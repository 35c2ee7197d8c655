// The editor for texts: CodeMirror, a chunk of its own that editor.tsx loads when the first text is opened.
//
// Its root is a shadow root: there CodeMirror adds its styles as constructed style sheets. In the document itself it
// would add <style> elements, which the content security policy forbids.

import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import { HighlightStyle, StreamLanguage, syntaxHighlighting } from '@codemirror/language';
import { lua } from '@codemirror/legacy-modes/mode/lua';
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search';
import { EditorState, type Extension, StateEffect, StateField } from '@codemirror/state';
import { Decoration, type DecorationSet, drawSelection, EditorView, highlightSpecialChars, keymap, lineNumbers } from '@codemirror/view';
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
  '.cm-wrong': { background: 'var(--bad-ground)', boxShadow: 'inset 3px 0 var(--bad)' },
});

const COLOURS = HighlightStyle.define([
  { tag: [tags.propertyName, tags.standard(tags.variableName)], color: 'var(--key)' },
  { tag: tags.string, color: 'var(--good)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--number)' },
  { tag: tags.keyword, color: 'var(--type)' },
  { tag: [tags.comment, tags.meta], color: 'var(--text-soft)' },
]);

/** Lua, and the line `#!lua name=…` that begins a library. */
const LUA = StreamLanguage.define({
  ...lua,
  token: (stream, state) => (stream.sol() && stream.match(/^#!.*/) ? 'meta' : lua.token(stream, state)),
});

const LANGUAGES: Record<CodeEditorProps['language'], Extension> = { json: json(), lua: LUA, none: [] };

/** Marks the line with this number, counted from 1; null marks none. */
const markLine = StateEffect.define<number | null>();

const markedLine = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(marks, transaction) {
    const effect = transaction.effects.find((each) => each.is(markLine));
    if (!effect) return marks.map(transaction.changes);
    const { doc } = transaction.state;
    if (effect.value === null || effect.value < 1 || effect.value > doc.lines) return Decoration.none;
    return Decoration.set(Decoration.line({ class: 'cm-wrong' }).range(doc.line(effect.value).from));
  },
  provide: (field) => EditorView.decorations.from(field),
});

export interface CodeEditorProps {
  /** Read only when the editor is created; another text needs another `key`. */
  text: string;
  label: string;
  language: 'json' | 'lua' | 'none';
  /** A line that is wrong, counted from 1: it is marked and scrolled into view whenever the object changes. */
  wrong?: { line: number } | undefined;
  onText(text: string): void;
  onSave(): void;
}

export default function CodeEditor(props: CodeEditorProps): VNode {
  const parent = useRef<HTMLDivElement>(null);
  const editor = useRef<EditorView>(undefined);
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
          LANGUAGES[props.language],
          markedLine,
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
    editor.current = view;
    return () => view.destroy();
  }, []);
  useEffect(() => {
    const view = editor.current;
    if (!view) return;
    const line = props.wrong?.line ?? null;
    const shown = line !== null && line >= 1 && line <= view.state.doc.lines;
    view.dispatch({
      effects: [
        markLine.of(line),
        ...(shown ? [EditorView.scrollIntoView(view.state.doc.line(line).from, { y: 'center' })] : []),
      ],
    });
  }, [props.wrong]);
  return <div class="code-editor" ref={parent} />;
}
