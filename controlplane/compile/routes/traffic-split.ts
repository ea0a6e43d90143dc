/** The split of a group's requests: one weight a Mapping, and a warning for the operator. */
export type TrafficSplit = { readonly weights: readonly number[]; readonly warning?: string };

/**
 * Returns weights of Mappings that share a route, as Envoy takes them: integers, of which only the
 * ratio counts. A Mapping's `weight` is a percentage. Those without one share equally what is left
 * of 100. When all have one, their sum is the whole. When nothing is left, or all are 0, the
 * warning says what happens instead.
 */
export function splitTraffic(percentages: readonly (number | undefined)[]): TrafficSplit {
  const sum = percentages.reduce((total: number, percent) => total + (percent ?? 0), 0);
  const open = percentages.filter(percent => percent === undefined).length;
  if (open === 0)
    return splitClosed(
      percentages.map(percent => percent ?? 0),
      sum,
    );
  const left = Math.max(0, 100 - sum);
  // The factor is the number of Mappings that share the rest, so that equal shares stay integers.
  const weights = percentages.map(percent => (percent === undefined ? left : percent * open));
  if (open === percentages.length && open > 1) return { weights, warning: unweighted(open) };
  if (left > 0) return { weights };
  return {
    weights,
    warning: `the others' weights add up to ${sum}: nothing is left for the Mappings without \`weight\``,
  };
}

function unweighted(count: number): string {
  return `${count} Mappings match the same requests and none has a \`weight\`: requests are spread equally. Give each its \`weight\`, or a \`prefix\`, \`host\` or \`method\` of its own`;
}

function splitClosed(weights: readonly number[], sum: number): TrafficSplit {
  if (sum === 0) {
    const warning =
      'every weight is 0: requests are spread equally. Remove the Mappings to serve nothing here';
    return { weights: weights.map(() => 1), warning };
  }
  if (sum === 100) return { weights };
  return {
    weights,
    warning: `the weights add up to ${sum}, not 100: they are taken as parts of ${sum}`,
  };
}
