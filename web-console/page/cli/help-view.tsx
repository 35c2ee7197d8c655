// HELP: the documentation of a command, from the command table.

import { commands, type Command } from '../resp/codec.ts';

export function HelpView(props: { topic: string }) {
  const topic = props.topic.trim().replace(/\s+/g, ' ').toUpperCase();
  if (topic === '') return <Usage />;
  const table = commands();
  if (topic.startsWith('@')) {
    const group = topic.slice(1).toLowerCase();
    const members = table.filter((command) => command.group === group && !command.name.includes(' '));
    return members.length > 0 ? <List commands={members} /> : <p class="v-error">There is no group {topic.toLowerCase()}. {groups()}</p>;
  }
  const own = table.find((command) => command.name === topic);
  const below = table.filter((command) => command.name.startsWith(`${topic} `));
  if (own) {
    return (
      <>
        <Card command={own} />
        {below.length > 0 && <List commands={below} />}
      </>
    );
  }
  const near = table.filter((command) => command.name.startsWith(topic));
  return near.length > 0 ? <List commands={near} /> : <p class="v-error">There is no command {topic}.</p>;
}

function groups(): string {
  return `Groups: ${[...new Set(commands().map((command) => `@${command.group}`))].sort().join(' ')}`;
}

function Card(props: { command: Command }) {
  const { command } = props;
  return (
    <div class="help-card">
      <p class="help-syntax"><b>{command.name}</b> {command.syntax || (command.container ? 'subcommand [argument ...]' : '')}</p>
      <p>{command.summary}</p>
      <dl class="help-facts">
        <dt>Since</dt><dd>{command.since}</dd>
        <dt>Group</dt><dd>@{command.group}</dd>
        {command.complexity && <><dt>Complexity</dt><dd>{command.complexity}</dd></>}
        {command.deprecated && <><dt>Deprecated</dt><dd>since {command.deprecated.since}, use {command.deprecated.replaced_by.replaceAll('`', '')}</dd></>}
      </dl>
    </div>
  );
}

function List(props: { commands: Command[] }) {
  return (
    <ul class="help-list">
      {props.commands.map((command) => (
        <li key={command.name}><b>{command.name}</b><span>{command.summary}</span></li>
      ))}
    </ul>
  );
}

const KEYS = [
  ['Tab', 'completes commands, subcommands and options; ↓ picks from the list'],
  ['↑ ↓', 'walk through the history'],
  ['Ctrl-R', 'searches it'],
  ['Shift-Enter', 'begins a new line; several commands run as one pipeline'],
  ['Ctrl-L', 'empties this page, as CLEAR does'],
  ['Ctrl-C', 'stops the current command, or empties the line'],
] as const;

function Usage() {
  return (
    <>
      <p>HELP command, HELP @group. A number before a command repeats it: 5 INCR counter.</p>
      <dl class="help-keys">
        {KEYS.map(([key, text]) => [<dt key={key}><kbd>{key}</kbd></dt>, <dd key={`${key}.`}>{text}</dd>])}
      </dl>
      <p class="v-type">{groups()}</p>
    </>
  );
}
