import type { Command } from 'commander';

/** Each command is loaded on demand. `up` starts its first child sooner without the compiler. */
export const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  init: async () => (await import('./init.ts')).initCommand(),
  up: async () => (await import('./up.ts')).upCommand(),
  scale: async () => (await import('./scale.ts')).scaleCommand(),
  status: async () => (await import('./status.ts')).statusCommand(),
  renew: async () => (await import('./renew.ts')).renewCommand(),
  validate: async () => (await import('./validate.ts')).validateCommand(),
  explain: async () => (await import('./explain.ts')).explainCommand(),
  diff: async () => (await import('./diff.ts')).diffCommand(),
  schema: async () => (await import('./schema.ts')).schemaCommand(),
  import: async () => (await import('./import.ts')).importCommand(),
  'upgrade-check': async () => (await import('./upgrade-check.ts')).upgradeCheckCommand(),
  compile: async () => (await import('./compile.ts')).compileCommand(),
  bootstrap: async () => (await import('./bootstrap.ts')).bootstrapCommand(),
  completion: async () => (await import('./completion.ts')).completionCommand(allCommands),
};

export function allCommands(): Promise<readonly Command[]> {
  return Promise.all(Object.values(COMMANDS).map(load => load()));
}
