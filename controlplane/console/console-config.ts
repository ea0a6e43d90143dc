import type { ReadVariable } from '#process/environment.ts';
import { parseList } from '#process/environment.ts';
import { isLoopback } from './guard.ts';

/** A claim of a token, and a value that it has, or that its list has. */
export type Claim = { readonly name: string; readonly value: string };

/** Whose tokens open the console. */
export type ConsoleLogin = {
  /** The provider, as its tokens name it. */
  readonly issuer: string;
  readonly audience: string;
  /** Any of these may look. */
  readonly viewers: readonly Claim[];
  /** Any of these may also act. */
  readonly operators: readonly Claim[];
};

/**
 * Who gets the console.
 * - `open`: everybody on this machine.
 * - `off`: no visitor.
 */
export type ConsoleConfig = 'open' | 'off' | ConsoleLogin;

/** Reads who gets the console. By default it is open on a loopback address, and off elsewhere. */
export function readConsole(text: ReadVariable, httpHost: string): ConsoleConfig {
  const word = text('CONSOLE', '');
  const login = {
    issuer: text('CONSOLE_ISSUER', ''),
    audience: text('CONSOLE_AUDIENCE', ''),
    viewers: parseClaims('CONSOLE_VIEWERS', text('CONSOLE_VIEWERS', '')),
    operators: parseClaims('CONSOLE_OPERATORS', text('CONSOLE_OPERATORS', '')),
  };
  if (word === '') return isLoopback(httpHost) ? 'open' : 'off';
  if (word === 'off') return word;
  if (word !== 'login') throw new Error(`CONSOLE is "${word}": want off, login or nothing`);
  if (!isIssuer(login.issuer))
    throw new Error(
      `CONSOLE_ISSUER is "${login.issuer}": want the URL of the provider with https, as its tokens name it in \`iss\``,
    );
  if (login.audience === '')
    throw new Error('CONSOLE_AUDIENCE is empty: want what the tokens name in `aud`');
  if (login.viewers.length + login.operators.length === 0)
    throw new Error(
      'CONSOLE_VIEWERS is empty: want claims of those who may look, for example groups=operators',
    );
  return login;
}

/** No other machine sees what goes over the loopback. */
function isIssuer(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { hostname, password, protocol, search, username } = new URL(text);
  if (username !== '' || password !== '' || search !== '') return false;
  return (
    protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname.replace(/^\[|\]$/g, '')))
  );
}

function parseClaims(name: string, text: string): readonly Claim[] {
  return parseList(name, text, ',').map(item => {
    const [, claim, value] = /^([^=\s]+)=(.+)$/.exec(item) ?? [];
    if (claim === undefined || value === undefined)
      throw new Error(`${name} has "${item}": want claim=value, for example groups=operators`);
    return { name: claim, value };
  });
}
