// The input line: CodeMirror with completion, the remaining syntax as ghost text, and the keys of a shell.
//
// Its root is a shadow root: there CodeMirror adds its styles as constructed style sheets. In the document itself it
// would add <style> elements, which the content security policy forbids.

import {
  acceptCompletion, autocompletion, closeCompletion, type CompletionContext, completionStatus, moveCompletionSelection,
  selectedCompletion, startCompletion,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, insertNewline } from '@codemirror/commands';
import { EditorState, type Extension, Prec } from '@codemirror/state';
import {
  Decoration, EditorView, highlightSpecialChars, keymap, placeholder, ViewPlugin, type ViewUpdate, WidgetType,
} from '@codemirror/view';
import { type Assistance, assist, commands } from '../resp/codec.ts';
import { functionsFor, readFunctions } from './functions.ts';
import { calledFunction } from './words.ts';

/** Longer inputs were pasted, and get no help. */
const ASSIST_MAX_CHARACTERS = 5000;

export interface Keys {
  /** Enter. */
  run(): void;
  previous(line: string): string | undefined;
  next(): string | undefined;
  search(): void;
  clear(): void;
  /** Ctrl-C without a selection. */
  interrupt(): void;
  /** The text or the help for it changed. */
  changed(text: string, help: Assistance | undefined): void;
}

/** Help for the text before the cursor, the console's own commands included. */
function helpAt(state: EditorState): Assistance | undefined {
  const { head } = state.selection.main;
  if (head > ASSIST_MAX_CHARACTERS) return undefined;
  const text = state.sliceDoc(0, head);
  const topic = /^\s*(?:help|\?)\s+(.*)$/is.exec(text)?.[1];
  if (topic !== undefined) {
    const wanted = topic.toUpperCase();
    const completions = commands()
      .filter((command) => command.name.startsWith(wanted))
      .map((command) => ({ word: command.name, detail: command.summary }));
    return { command: '', hint: topic ? '' : 'command | @group', replaces: topic.length, completions };
  }
  const help = assist(text);
  if (/^\s*[a-z]+$/i.test(text)) {
    const typed = text.trim().toUpperCase();
    for (const [word, detail] of OWN_COMMANDS) if (word.startsWith(typed)) help.completions.push({ word, detail });
    if (typed === 'HELP') help.hint = '[command | @group]';
  }
  if (isCall(help)) {
    // Begins with the command's name, so that the functions are known when Tab asks for them.
    void readFunctions();
    const called = calledFunction(text);
    if (called) help.completions.push(...functionsFor(called));
  }
  return help;
}

function isCall(help: Assistance): boolean {
  return help.command === 'FCALL' || help.command === 'FCALL_RO';
}

const OWN_COMMANDS = [
  ['HELP', 'Shows the summary and the syntax of a command'],
  ['CLEAR', 'Empties this page'],
] as const;

function complete(context: CompletionContext) {
  const help = helpAt(context.state);
  return help && isCall(help)
    ? readFunctions().then(() => completionsAt(context, helpAt(context.state)))
    : completionsAt(context, help);
}

function completionsAt(context: CompletionContext, help: Assistance | undefined) {
  if (!help || help.completions.length === 0) return null;
  // Before the first letter, the list of all commands opens only on request; options and subcommands open at once.
  if (!context.explicit && help.replaces === 0 && help.command === '') return null;
  return {
    from: context.pos - help.replaces,
    options: help.completions.map(({ word, detail }) => ({
      label: word,
      // The list already shows the word.
      detail: detail.startsWith(`${word} `) ? detail.slice(word.length + 1) : detail,
      apply: `${word} `,
    })),
    filter: false,
  };
}

class Ghost extends WidgetType {
  constructor(readonly text: string) {
    super();
  }
  override eq(other: Ghost): boolean {
    return other.text === this.text;
  }
  override toDOM(): HTMLElement {
    const span = document.createElement('span');
    span.className = 'cm-ghost';
    span.textContent = this.text;
    // Screen readers read it from the line below the editor.
    span.setAttribute('aria-hidden', 'true');
    return span;
  }
  override ignoreEvent(): boolean {
    return true;
  }
}

/** Shows the hint behind the cursor if the cursor is at the end of the text. */
function ghost(changed: Keys['changed']): Extension {
  return ViewPlugin.define(
    (view) => {
      const plugin = {
        decorations: Decoration.none,
        update(update: ViewUpdate) {
          if (!update.docChanged && !update.selectionSet) return;
          plugin.show(update.state);
        },
        show(state: EditorState) {
          const help = helpAt(state);
          const { main } = state.selection;
          const atEnd = main.empty && main.head === state.doc.length;
          const space = /\s$/.test(state.sliceDoc(Math.max(0, main.head - 1), main.head)) ? '' : ' ';
          plugin.decorations = help?.hint && atEnd && state.doc.length > 0
            ? Decoration.set(Decoration.widget({ widget: new Ghost(space + help.hint), side: 1 }).range(main.head))
            : Decoration.none;
          // After the update: the listener draws the page.
          queueMicrotask(() => changed(state.doc.toString(), help));
        },
      };
      plugin.show(view.state);
      return plugin;
    },
    { decorations: (plugin) => plugin.decorations },
  );
}

const THEME = EditorView.theme({
  '&': { color: 'var(--text)', fontSize: 'var(--size-mono)', background: 'transparent' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '20px', maxHeight: '40vh', overflow: 'auto' },
  '.cm-content': { padding: '9px 0', caretColor: 'var(--accent)', minHeight: '38px' },
  '.cm-line': { padding: '0 2px' },
  '.cm-ghost': { color: 'var(--text-faint)' },
  '.cm-placeholder': { color: 'var(--text-faint)' },
  '.cm-specialChar': { color: 'var(--bad)' },
  '.cm-tooltip': {
    background: 'var(--raised)', border: '1px solid var(--line)', borderRadius: '6px', boxShadow: 'var(--shadow-high)',
    overflow: 'hidden',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': {
    fontFamily: 'var(--mono)', fontSize: 'var(--size-mono)', maxHeight: '232px', maxWidth: 'min(620px, 92vw)', padding: '4px',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': {
    display: 'flex', gap: '12px', alignItems: 'baseline', padding: '2px 8px', borderRadius: '4px', lineHeight: '20px',
  },
  '.cm-tooltip-autocomplete > ul > li[aria-selected]': { background: 'var(--selected)', color: 'var(--text)' },
  '.cm-completionIcon': { display: 'none' },
  '.cm-completionLabel': { flex: 'none' },
  '.cm-completionMatchedText': { textDecoration: 'none', color: 'var(--accent)' },
  '.cm-completionDetail': {
    fontStyle: 'normal', fontFamily: 'var(--sans)', fontSize: 'var(--size-small)', color: 'var(--text-soft)', marginLeft: '0',
    overflow: 'hidden', textOverflow: 'ellipsis',
  },
});

export function createEditor(parent: HTMLElement, keys: Keys): EditorView {
  const shadow = parent.shadowRoot ?? parent.attachShadow({ mode: 'open', delegatesFocus: true });
  const replace = (view: EditorView, text: string | undefined): boolean => {
    if (text === undefined) return true;
    setText(view, text);
    return true;
  };
  const onFirstLine = (view: EditorView) => view.state.doc.lineAt(view.state.selection.main.head).number === 1;
  const onLastLine = (view: EditorView) => view.state.doc.lineAt(view.state.selection.main.head).number === view.state.doc.lines;
  const inPopup = (view: EditorView) => completionStatus(view.state) === 'active';
  const chosen = (view: EditorView) => inPopup(view) && selectedCompletion(view.state) !== null;

  const shell = keymap.of([
    {
      key: 'Enter',
      // Runs the line, or accepts the completion that the arrows have picked.
      run: (view) => {
        if (chosen(view) && acceptCompletion(view)) return true;
        closeCompletion(view);
        keys.run();
        return true;
      },
    },
    { key: 'Shift-Enter', run: insertNewline },
    { key: 'Alt-Enter', run: insertNewline },
    {
      key: 'Tab',
      run: (view) => {
        if (inPopup(view)) {
          if (!chosen(view)) moveCompletionSelection(true)(view);
          return acceptCompletion(view);
        }
        // With nothing to complete, Tab moves to the next control, so that the keyboard is not trapped.
        const help = helpAt(view.state);
        if (view.state.doc.length === 0 || !help?.completions.length) return false;
        const [only, second] = help.completions;
        if (only && !second) {
          const { head } = view.state.selection.main;
          view.dispatch({
            changes: { from: head - help.replaces, to: head, insert: `${only.word} ` },
            selection: { anchor: head - help.replaces + only.word.length + 1 },
            userEvent: 'input.complete',
          });
          return true;
        }
        return startCompletion(view);
      },
    },
    { key: 'Ctrl-Space', run: startCompletion },
    { key: 'ArrowDown', run: (view) => (inPopup(view) ? moveCompletionSelection(true)(view) : onLastLine(view) && replace(view, keys.next())) },
    {
      key: 'ArrowUp',
      run: (view) =>
        chosen(view) ? moveCompletionSelection(false)(view) : onFirstLine(view) && replace(view, keys.previous(view.state.doc.toString())),
    },
    { key: 'Ctrl-p', run: (view) => replace(view, keys.previous(view.state.doc.toString())) },
    { key: 'Ctrl-n', run: (view) => replace(view, keys.next()) },
    { key: 'Ctrl-r', run: () => (keys.search(), true), preventDefault: true },
    { key: 'Ctrl-l', run: () => (keys.clear(), true), preventDefault: true },
    { key: 'Ctrl-u', run: (view) => (setText(view, ''), true), preventDefault: true },
    { key: 'Ctrl-c', run: (view) => view.state.selection.main.empty && (keys.interrupt(), true) },
    { key: 'Escape', run: closeCompletion },
  ]);
  return new EditorView({
    root: shadow,
    parent: shadow,
    state: EditorState.create({
      extensions: [
        Prec.highest(shell),
        history(),
        highlightSpecialChars(),
        EditorState.lineSeparator.of('\n'),
        EditorView.lineWrapping,
        autocompletion({ override: [complete], defaultKeymap: false, selectOnOpen: false, icons: false, interactionDelay: 0, maxRenderedOptions: 300 }),
        ghost(keys.changed),
        placeholder('Type a command, or HELP'),
        THEME,
        EditorView.contentAttributes.of({
          'aria-label': 'Command', 'aria-describedby': 'cli-summary', autocapitalize: 'off', autocorrect: 'off', spellcheck: 'false',
        }),
        keymap.of([...defaultKeymap, ...historyKeymap]),
      ],
    }),
  });
}

export function setText(view: EditorView, text: string): void {
  view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text }, selection: { anchor: text.length }, scrollIntoView: true });
}
