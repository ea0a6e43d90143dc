import { Command } from 'commander';
import { PRODUCT_VERSION } from '#files/product-version.ts';
import { readApi } from '#protos/envoy-api/api-file.ts';
import { COMMANDS } from './commands.ts';
import { refuseEmpty } from './refuse-empty.ts';

/** Of these, 1 means that something differs. */
const FAILED = ['diff', 'upgrade-check'].includes(process.argv[2] ?? '') ? 2 : 1;

const program = new Command('gateway')
  .description('An API gateway on Envoy, configured by a few YAML resources')
  .version(PRODUCT_VERSION)
  .showSuggestionAfterError()
  .showHelpAfterError('(--help shows what there is)')
  .hook('preAction', (_program, command) => refuseEmpty(command))
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : FAILED));

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') return; // `gateway compile … | head` has had enough
  say(`Cannot write the output: ${error.message}`);
  process.exit(FAILED);
});

try {
  await makeEnvoyApi();
  const asked = commandNamed(process.argv[2]);
  for (const load of asked === undefined ? Object.values(COMMANDS) : [asked]) {
    program.addCommand((await load()).copyInheritedSettings(program));
  }
  await program.parseAsync(withoutHelp(process.argv.slice(2)), { from: 'user' });
} catch (error) {
  say(error instanceof Error ? error.message : String(error));
  process.exitCode = FAILED;
}

function commandNamed(name = '') {
  return Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
}

/** Commander says of an unknown command that it is one, but not behind `help`. */
function withoutHelp(args: readonly string[]): readonly string[] {
  const [help, about] = args;
  const isUnknown = help === 'help' && about !== undefined && commandNamed(about) === undefined;
  return isUnknown ? args.slice(1) : args;
}

/** Every command reads the API when it is loaded. A package and an image bring it along. */
async function makeEnvoyApi(): Promise<void> {
  if (readApi() === undefined)
    await (await import('#launcher/make-envoy-api.ts')).makeEnvoyApi(say);
}

function say(line: string): void {
  process.stderr.write(`gateway: ${line}\n`);
}
