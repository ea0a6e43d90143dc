import { RE2JS } from 're2js';
import type { Parsed } from './parsed-string.ts';

/** An RE2 expression that Envoy accepts. */
export function parseRe2(text: string): Parsed<string> {
  try {
    RE2JS.compile(text);
    return { value: text };
  } catch (error) {
    return {
      error: `Cannot parse regular expression "${text}": ${error instanceof Error ? error.message : error}`,
    };
  }
}
