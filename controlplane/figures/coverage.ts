/** How many of the proxies push figures to this control plane. */
export type FigureCoverage = {
  readonly reporting: number;
  /** Those, and the ones that only get their configuration here. */
  readonly known: number;
  /** Whether other control planes serve the same resources, to which other proxies may report. */
  readonly replicated: boolean;
};

type Proxy = { readonly node: string; readonly group: string };

/** `connected` are the proxies that get their configuration here. */
export function coverageOf(
  sources: readonly Proxy[],
  connected: readonly Proxy[],
  replicated: boolean,
): FigureCoverage {
  const keyOf = ({ node, group }: Proxy) => JSON.stringify([group, node]);
  const reporting = new Set(sources.map(keyOf));
  const known = new Set([...reporting, ...connected.map(keyOf)]);
  return { reporting: reporting.size, known: known.size, replicated };
}

/**
 * Says whose figures and Problems of upstreams these are.
 * @returns undefined when there is one control plane, which has all of them
 */
export function coverageText(coverage: FigureCoverage | undefined): string | undefined {
  if (coverage === undefined || !coverage.replicated) return undefined;
  const { reporting, known } = coverage;
  return `${reporting} of ${known} known proxies report figures here. Others may report to another control plane, which has their figures and what fails behind them`;
}
