import type * as z from 'zod';
import { caution, type Finding } from '#resources/finding.ts';
import { parseRewrite } from '#resources/match/path-match.ts';
import { regexSubstitution } from '#resources/match/regex-substitution.ts';
import { falseByDefault } from '#resources/words/flags.ts';
import { ipVersion } from '#resources/words/ip-address.ts';
import { checkedString, type Parsed } from '#resources/words/parsed-string.ts';
import { parseService, type Service } from '#resources/words/service.ts';

/** The fields of a Mapping that change path and host on the way to the service. */
export const mappingRewriteShape = {
  rewrite: checkedString('a path or ""', parseRewrite)
    .default('/')
    .describe(
      'What replaces `prefix`. `""` leaves the path as it is. Without effect with `prefix_regex` and `regex_rewrite`',
    ),
  regex_rewrite: regexSubstitution.exactOptional().describe('What is replaced in the path'),
  host_rewrite: checkedString('a host', parseHostRewrite)
    .exactOptional()
    .describe('Host that the service sees'),
  auto_host_rewrite: falseByDefault.describe(
    'The service sees its own name in `service` as the host. Without effect with `host_rewrite`',
  ),
};

function parseHostRewrite(text: string): Parsed<string> {
  const parsed = parseService(text);
  if ('value' in parsed && !text.includes('//')) return { value: text };
  return { error: `Cannot parse host "${text}": write name or name:port` };
}

/** The fields of a rewrite, and those that decide whether they have an effect. */
type Rewrite = Partial<z.output<z.ZodObject<typeof mappingRewriteShape>>> & {
  readonly prefix_exact?: boolean;
  readonly prefix_regex?: boolean;
  readonly resolver?: string;
  readonly service?: Service;
};

/** Checks the rules between these fields and others. */
export function checkRewrite(spec: Rewrite): readonly Finding[] {
  const { prefix_exact = false, prefix_regex, regex_rewrite, rewrite = '/' } = spec;
  const by =
    prefix_regex === true
      ? 'prefix_regex'
      : regex_rewrite === undefined
        ? undefined
        : 'regex_rewrite';
  const ignored = by !== undefined && rewrite !== '/' && rewrite !== '';
  const splits = by === undefined && !prefix_exact && rewrite.includes('?');
  const start = regex_rewrite === undefined || /^[/\\]/.test(regex_rewrite.substitution);
  return [
    ...(ignored ? [caution(['rewrite'], `\`rewrite\` is ignored with \`${by}\``)] : []),
    ...(splits ? [caution(['rewrite'], REST_IN_QUERY)] : []),
    ...(start
      ? []
      : [
          caution(
            ['regex_rewrite', 'substitution'],
            'a path may come out that does not begin with "/"',
          ),
        ]),
    ...checkHost(spec),
  ];
}

const REST_IN_QUERY =
  'what follows `prefix` in the path comes behind the "?". Only with `prefix_exact` nothing follows';

/** Envoy uses the name under which it looked an instance up. */
function checkHost({ auto_host_rewrite, host_rewrite, resolver, service }: Rewrite) {
  if (auto_host_rewrite !== true) return [];
  const why =
    host_rewrite !== undefined
      ? 'with `host_rewrite`'
      : resolver === 'sds'
        ? 'with `resolver: sds`: instances have no names'
        : service !== undefined && ipVersion(service.host) !== 0
          ? 'where `service` is an address'
          : undefined;
  return why === undefined
    ? []
    : [caution(['auto_host_rewrite'], `\`auto_host_rewrite\` has no effect ${why}`)];
}
