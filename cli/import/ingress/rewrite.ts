import { parseRe2 } from '#resources/match/re2.ts';
import { fieldsOnly, NOTHING, type Part, remarksOnly } from '../part.ts';
import { closed } from '../remark.ts';
import { type Annotations, annotationPath } from './annotations.ts';
import { pathExpression } from './path-expression.ts';

/**
 * Returns what `rewrite-target` is for one path: nginx replaces the whole path by it. `$1` is a
 * group of the path.
 */
export function rewriteOf(annotations: Annotations, path: string): Part {
  const target = annotations.get('rewrite-target');
  if (target === undefined) return fieldsOnly({ rewrite: '' });
  const reason = whyNot(target, path);
  if (reason !== undefined)
    return remarksOnly(
      closed(
        annotationPath('rewrite-target'),
        `${reason}. The service would get another path. Write \`rewrite\` or \`regex_rewrite\` into the Mapping and remove \`closed\``,
      ),
    );
  const groups = countGroups(path);
  const substitution = target
    .replaceAll('\\', '\\\\')
    .replaceAll(/\$\{?(\d)\}?/g, (_, digit) => (Number(digit) <= groups ? `\\${digit}` : ''));
  return fieldsOnly({ regex_rewrite: { pattern: wholePath(path), substitution } });
}

/** Returns whether these annotations make expressions of all paths of the hosts. */
export function makesExpressions(annotations: Annotations): boolean {
  return annotations.on('use-regex') || annotations.get('rewrite-target') !== undefined;
}

function wholePath(path: string): string {
  return `(?i)^${pathExpression(path)}$`;
}

function whyNot(target: string, path: string): string | undefined {
  if (/^[a-z]+:/i.test(target)) return 'nginx answers a URL with a redirect';
  if (!/^[/$]/.test(target)) return 'it does not begin with "/"';
  if (/\$(?!\{?\d)/.test(target)) return 'it has a variable of nginx';
  if (/[?#]/.test(target)) return 'it sets a query';
  if (!/^[\x21-\x7e]*$/.test(target)) return 'it has a character that no path has';
  return 'error' in parseRe2(wholePath(path)) ? 'the path is no RE2 expression' : undefined;
}

function countGroups(expression: string): number {
  const tokens = expression.matchAll(/\\.|\[(?:\\.|[^\]])*\]|\((?!\?(?!P?<))/g);
  return [...tokens].filter(([token]) => token === '(').length;
}

/** Returns where requests for `/` are sent by `app-root`. */
export function appRootOf(annotations: Annotations, host: string): Part {
  const root = annotations.get('app-root');
  if (root === undefined) return NOTHING;
  return fieldsOnly({
    host,
    prefix: '/',
    prefix_exact: true,
    service: host,
    host_redirect: true,
    path_redirect: root,
    redirect_response_code: 302,
  });
}
