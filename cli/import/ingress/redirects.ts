import { fieldsOnly, joinParts, NOTHING, type Part, remarksOnly } from '../part.ts';
import { changed, closed } from '../remark.ts';
import { type Annotations, annotationPath } from './annotations.ts';

const CODES: readonly string[] = ['301', '302', '303', '307', '308'];

/** Returns the redirect that an Ingress answers instead of its services, or nothing. */
export function redirect(annotations: Annotations): Part {
  for (const [name, fallback] of [
    ['temporal-redirect', '302'],
    ['permanent-redirect', '301'],
  ] as const) {
    const target = annotations.get(name);
    if (target !== undefined)
      return joinParts([toTarget(target, name), codeOf(annotations, `${name}-code`, fallback)]);
  }
  return NOTHING;
}

function toTarget(target: string, name: string): Part {
  const [, origin = '', rest = ''] = /^(https?:\/\/[^/?#$]+)(.*)$/i.exec(target) ?? [];
  const keepsPath = /^\$\{?(?:request_uri|uri)\}?$/.test(rest);
  if (origin === '' || (!keepsPath && rest.includes('$'))) {
    const why =
      'only a URL, or one that ends in `$request_uri`, can be expressed. Write `host_redirect` into the Mapping and remove `closed`';
    return remarksOnly(closed(annotationPath(name), why));
  }
  const path = rest.startsWith('/') ? rest : `/${rest}`;
  return fieldsOnly({
    service: origin,
    host_redirect: true,
    ...(keepsPath ? {} : { path_redirect: path }),
  });
}

function codeOf(annotations: Annotations, name: string, fallback: string): Part {
  const written = annotations.get(name) ?? fallback;
  const code = CODES.includes(written) ? written : fallback;
  const remarks = code === written ? [] : [changed(annotationPath(name), `it is ${code} here`)];
  return { fields: { redirect_response_code: Number(code) }, remarks };
}
