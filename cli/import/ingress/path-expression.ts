/**
 * Returns an expression for whole paths that ingress-nginx finds by this one. It writes `^` before
 * the path, so that the alternatives behind the first are looked for in the middle of a path too
 * (https://kubernetes.github.io/ingress-nginx/user-guide/ingress-path-matching/).
 */
export function pathExpression(path: string): string {
  const [first = '', ...others] = alternativesOf(path);
  const all = [
    atStart(first),
    ...others.map(each => (each.startsWith('^') ? atStart(each) : `.*?(?:${each})`)),
  ];
  return `(?:${all.join('|')}).*`;
}

function atStart(expression: string): string {
  return expression.replace(/^\^/, '');
}

/** Returns what stands between each `|` outside of parentheses. */
export function alternativesOf(expression: string): readonly string[] {
  const ends: number[] = [];
  let depth = 0;
  for (const { 0: token, index } of expression.matchAll(/\\.|\[\^?\]?(?:\\.|[^\]])*\]|[()|]/g)) {
    if (token === '(') depth++;
    else if (token === ')') depth--;
    else if (token === '|' && depth === 0) ends.push(index);
  }
  return [...ends, expression.length].map((end, at) =>
    expression.slice(at === 0 ? 0 : (ends[at - 1] ?? 0) + 1, end),
  );
}
