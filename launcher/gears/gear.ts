/** What `npm test` is asked for. */
export type Gear =
  | { readonly kind: 'quick' | 'all' | 'help' }
  /** The default base is where the branch left the one that it follows. */
  | { readonly kind: 'changed'; readonly base?: string }
  /** Files, or folders. */
  | { readonly kind: 'named'; readonly names: readonly string[] };

export const HELP = `npm test                    types, style, all tests that start no program, and one pass of the whole
                            system through real Envoys. Installs nothing but npm packages and Envoy.
npm test -- --all           everything, as the continuous integration runs it. Installs missing tools
                            through apt-get and builds some with Go, and says so first.
npm test -- --changed       types, style, and the tests that can reach what differs from the branch that
                            this one follows, also what is not committed.
npm test -- --changed v1    the same, since the commit, tag or branch v1.
npm test -- <path> ...      the tests of a folder or file, such as xds or xds/snapshot.test.ts,
                            with whatever they need.
npm test -- --help          this text.

Tests in a folder e2e/ start programs. All others share a few processes.
`;

/** Parses the arguments. Throws an Error that names an argument that it does not know. */
export function parseGear(args: readonly string[]): Gear {
  const [first, ...rest] = args;
  if (first === undefined) return { kind: 'quick' };
  if (first === '--help' || first === '-h') return { kind: 'help' };
  if (first === '--all') return alone(rest, { kind: 'all' });
  if (first === '--changed') {
    const [base, ...more] = rest;
    if (base?.startsWith('-')) throw unknown(base);
    return alone(more, { kind: 'changed', ...(base !== undefined && { base }) });
  }
  const option = args.find(arg => arg.startsWith('-'));
  if (option !== undefined) throw unknown(option);
  return { kind: 'named', names: args };
}

function alone(rest: readonly string[], gear: Gear): Gear {
  const [more] = rest;
  if (more !== undefined) throw unknown(more);
  return gear;
}

function unknown(arg: string): Error {
  return new Error(`npm test does not know "${arg}" here: see npm test -- --help`);
}
