import type { Change } from '#ext-authz/http/filter-decision.ts';

/**
 * Headers that Envoy would route or frame by, and those that are settled after the chain. The kinds
 * reject them too, but nothing here depends on that.
 */
const NEVER_SET: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'cookie',
  'host',
  'te',
  'transfer-encoding',
  'upgrade',
]);

const NAME = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there (RFC 9110 section 5.5)
const CONTROL = /[\x00-\x08\x0a-\x1f\x7f]/;

/**
 * Returns why a filter's change must not go to Envoy. Names the header, never its value.
 * @returns undefined when it may
 */
export function changeFault({ set, responseHeaders }: Change): string | undefined {
  for (const [name, value] of set) {
    if (!NAME.test(name) || NEVER_SET.has(name))
      return `it sets the header ${JSON.stringify(name)}`;
    if (CONTROL.test(value)) return `the header ${JSON.stringify(name)} has a control character`;
  }
  const broken = responseHeaders.find(([name, value]) => !NAME.test(name) || CONTROL.test(value));
  return broken === undefined
    ? undefined
    : `the response header ${JSON.stringify(broken[0])} is malformed`;
}
