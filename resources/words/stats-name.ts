import { checkedString, type Parsed } from './parsed-string.ts';

function parseStatsName(text: string): Parsed<string> {
  if (/^[\w-]{1,60}$/.test(text)) return { value: text };
  return { error: `"${text}" is no name for statistics: 1 to 60 letters, digits, "_" and "-"` };
}

/** A name in Envoy's statistics. */
export const statsPrefix = checkedString('letters, digits, "_" and "-"', parseStatsName);

/** The name of a service's cluster in Envoy's statistics. */
export const statsName = statsPrefix
  .exactOptional()
  // Ambassador's cluster spells it so when it is asked for v2.
  .meta({ deprecatedNames: ['v3StatsName'] })
  .describe("Name of its cluster in Envoy's statistics");
