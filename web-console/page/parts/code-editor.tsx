// The editor for texts: CodeMirror, a chunk of its own that editor.tsx loads when the first text is opened.
//
// Its root is a shadow root: there CodeMirror adds its styles as constructed style sheets. In the document itself it
// would add <style> elements, which the content security policy forbids.

import { acceptCompletion, autocompletion, closeCompletion, type CompletionContext, type CompletionResult } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import { HighlightStyle, StreamLanguage, syntaxHighlighting } from '@codemirror/language';
import { lua } from '@codemirror/legacy-modes/mode/lua';
import { sqlite } from '@codemirror/legacy-modes/mode/sql';
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search';
import { EditorState, type Extension, Prec, StateEffect, StateField } from '@codemirror/state';
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
  '.cm-tooltip': { background: 'var(--raised)', color: 'var(--text)', border: '1px solid var(--line)' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { background: 'var(--selected)', color: 'var(--text)' },
  '.cm-completionDetail': { color: 'var(--text-soft)' },
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

const LANGUAGES: Record<CodeEditorProps['language'], Extension> = { json: json(), lua: LUA, sql: StreamLanguage.define(sqlite), none: [] };

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
  language: 'json' | 'lua' | 'sql' | 'none';
  /** Words that are offered while one types, besides those of SQL; `of` is what stands before the dot. Asked for each time. */
  words?(): Word[];
  /**
   * A line that is wrong, counted from 1: it is marked and scrolled into view whenever the object changes. A line that is wrong while one
   * types is not scrolled to.
   */
  wrong?: { line: number; isTyped?: boolean } | undefined;
  isReadOnly?: boolean;
  onText(text: string): void;
  onSave(): void;
  /** What is selected has changed, to a text or to nothing. */
  onSelect?(text: string): void;
  /** Ctrl-Enter. */
  onRun?(): void;
}

export interface Word {
  label: string;
  detail: string;
  of?: string;
}

/** Words of SQL that begin or join its parts. */
const SQL_WORDS =
  'SELECT FROM WHERE GROUP ORDER BY HAVING LIMIT OFFSET JOIN LEFT INNER CROSS ON USING AS AND OR NOT NULL IN IS LIKE BETWEEN EXISTS CASE WHEN THEN ELSE END ' +
  'DISTINCT UNION ALL EXCEPT INTERSECT WITH RECURSIVE VALUES INSERT INTO UPDATE SET DELETE REPLACE RETURNING CONFLICT DO NOTHING CREATE TABLE INDEX UNIQUE ' +
  'VIEW TRIGGER PRIMARY KEY REFERENCES FOREIGN CHECK DEFAULT ALTER ADD COLUMN RENAME DROP EXPLAIN QUERY PLAN BEGIN COMMIT ROLLBACK SAVEPOINT ASC DESC OVER ' +
  'PARTITION INTEGER REAL TEXT BLOB';

/** The words that fit what was typed: behind `table.` its columns alone. */
function completed(context: CompletionContext, words: Word[]): CompletionResult | null {
  const typed = context.matchBefore(/(?:\w+\.)?\w*/);
  if (typed === null || (typed.text === '' && !context.explicit)) return null;
  const dot = typed.text.indexOf('.');
  if (dot >= 0) {
    const table = typed.text.slice(0, dot).toLowerCase();
    const options = words.filter((word) => word.of?.toLowerCase() === table).map(({ label, detail }) => ({ label, detail }));
    return { from: typed.from + dot + 1, options, validFor: /^\w*$/ };
  }
  const options = [
    ...words.map(({ label, detail }) => ({ label, detail, boost: 1 })),
    ...SQL_WORDS.split(' ').map((label) => ({ label })),
  ];
  return { from: typed.from, options, validFor: /^\w*$/ };
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
          EditorState.readOnly.of(props.isReadOnly === true),
          markedLine,
          props.words === undefined
            ? []
            : [
                autocompletion({ icons: false, override: [(context) => completed(context, latest.current.words?.() ?? [])] }),
                Prec.highest(keymap.of([{ key: 'Tab', run: acceptCompletion }])),
              ],
          // Before CodeMirror's own Ctrl-Enter, which begins a line.
          Prec.high(keymap.of([{ key: 'Mod-Enter', run: (view) => (closeCompletion(view), latest.current.onRun?.(), latest.current.onRun !== undefined) }])),
          EditorView.contentAttributes.of({ 'aria-label': props.label }),
          keymap.of([
            { key: 'Mod-s', run: () => (latest.current.onSave(), true) },
            ...defaultKeymap,
            ...historyKeymap,
            ...searchKeymap,
          ]),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) latest.current.onText(update.state.doc.toString());
            if (update.selectionSet || update.docChanged) {
              const { from, to } = update.state.selection.main;
              latest.current.onSelect?.(update.state.sliceDoc(from, to));
            }
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
    const shown = line !== null && props.wrong?.isTyped !== true && line >= 1 && line <= view.state.doc.lines;
    view.dispatch({
      effects: [
        markLine.of(line),
        ...(shown ? [EditorView.scrollIntoView(view.state.doc.line(line).from, { y: 'center' })] : []),
      ],
    });
  }, [props.wrong]);
  return <div class="code-editor" ref={parent} />;
}
