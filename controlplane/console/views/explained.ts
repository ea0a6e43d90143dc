import { conclusion } from '#controlplane/explain/conclusion.ts';
import { describe } from '#controlplane/explain/describe.ts';
import type { Explanation } from '#controlplane/explain/explanation.ts';

/** The answer of `gateway explain`, in parts. */
export type Explained = {
  readonly sections: readonly Section[];
  readonly conclusion: readonly string[];
  /** The id of the Mapping, HTTPRoute or GRPCRoute, when one matches. */
  readonly route?: string;
};

export type Section = { readonly title: string; readonly lines: readonly string[] };

/** Splits what `gateway explain` prints. A line without indent begins a section. */
export function explained(explanation: Explanation): Explained {
  const last = conclusion(explanation);
  const lines = describe(explanation, true).trimEnd().split('\n').slice(0, -last.length);
  const sections: { title: string; lines: string[] }[] = [];
  for (const line of lines)
    if (line.startsWith(' ')) sections.at(-1)?.lines.push(line.slice(2));
    else sections.push({ title: line, lines: [] });
  const [, kind, name] =
    /^(Mapping|HTTPRoute|GRPCRoute) (\S+)$/.exec(explanation.route?.resource ?? '') ?? [];
  return {
    sections,
    conclusion: last,
    ...(kind === undefined ? {} : { route: `${kind}/${name}` }),
  };
}
