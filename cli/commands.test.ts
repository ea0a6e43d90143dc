import assert from 'node:assert/strict';
import { test } from 'node:test';
import { COMMANDS } from './commands.ts';

for (const [name, load] of Object.entries(COMMANDS))
  test(`the help of ${name} shows examples of it, with options that it has`, async () => {
    const command = await load();
    let help = '';
    command.configureOutput({ writeOut: text => (help += text) });
    command.outputHelp();
    const examples = help.split('\nExamples:\n')[1]?.match(/^ +.*gateway .*/gm) ?? [];
    assert.ok(examples.length > 0, help);
    const known = command.options.flatMap(({ long, short }) => [long, short]);
    const used = examples
      .flatMap(line => line.split(`gateway ${name}`).slice(1))
      .flatMap(rest => rest.match(/(?<= )--?[a-zA-Z][a-z-]*/g) ?? []);
    assert.deepEqual(
      used.filter(option => !known.includes(option)),
      [],
    );
  });
