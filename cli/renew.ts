import { Command } from 'commander';
import type { Acted } from '#controlplane/console/act.ts';
import type { CertificatesView } from '#controlplane/console/views/certificates.ts';
import { escapeControls } from '#controlplane/rollout/problems.ts';
import {
  ADDRESS,
  askControlPlane,
  keepOnMachine,
  PORT_OFFSET,
  readAnswer,
  type WhereFlags,
} from './control-plane-address.ts';

type Flags = WhereFlags & { readonly revoke: boolean };

const EXAMPLES = `
Where the console needs a login, the variable CONSOLE_TOKEN holds the token of an operator.

Examples:
  gateway renew shop.example.com
`;

/**
 * Returns `gateway renew`. It has a certificate of an ACME authority replaced before its time.
 * Exits with 1 when a discovery service did not do so.
 */
export function renewCommand(): Command {
  return new Command('renew')
    .description('renew a certificate of an ACME authority before it is due')
    .argument('<hostname>', 'of the Host')
    .option('--revoke', 'first have the authority revoke the certificate that is served', false)
    .addOption(ADDRESS)
    .addOption(PORT_OFFSET)
    .addHelpText('after', EXAMPLES)
    .action(async (hostname: string, { revoke, ...where }: Flags) => {
      const { hosts } = await ask<CertificatesView>(where, 'certificates', view =>
        Array.isArray(view.hosts),
      );
      const ordered = hosts.filter(({ source }) => source === 'acme');
      const found = ordered.find(host => host.hostname === hostname.toLowerCase());
      if (found === undefined) throw new Error(unknown(hostname, ordered));
      const { answers } = await ask<Acted>(
        where,
        'renew-certificate',
        acted => Array.isArray(acted.answers),
        { hostname: found.hostname, revoke },
      );
      const lines = answers.map(({ node, outcome, text }) => `${node}: ${outcome}: ${text}`);
      process.stdout.write(lines.map(line => `${escapeControls(line)}\n`).join(''));
      if (answers.some(({ outcome }) => outcome !== 'done')) process.exitCode = 1;
    });
}

function unknown(hostname: string, known: CertificatesView['hosts']): string {
  const names = known.map(host => host.hostname).join(', ');
  const others = names === '' ? '' : `. These have: ${names}`;
  return `no Host ${hostname} in force has a certificate of an ACME authority${others}`;
}

/** Where the console needs a login, it wants an operator's token. */
async function ask<Answer extends object>(
  where: WhereFlags,
  path: string,
  recognise: (answer: Partial<Answer>) => boolean,
  body?: object,
): Promise<Answer> {
  const token = process.env.CONSOLE_TOKEN?.trim() || undefined;
  keepOnMachine(where, () => token && 'CONSOLE_TOKEN holds a token');
  const response = await askControlPlane(where, `/console/api/${path}`, {
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
    headers: {
      'content-type': 'application/json',
      ...(token !== undefined && { 'x-console-token': token }),
    },
    alsoAnswers: [400, 401, 403, 404, 503],
  });
  if (response.status === 404) throw new Error('the console of this control plane is off');
  if (response.status === 401 && token === undefined) throw new Error(NO_TOKEN);
  return await readAnswer(response, recognise);
}

const NO_TOKEN =
  'the console of this control plane needs a login: put the token of an operator into the variable CONSOLE_TOKEN';
