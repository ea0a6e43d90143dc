import { withoutBlanks } from '#ext-authz/http/header-text.ts';
import type { HttpRequest } from '#ext-authz/http/http-request.ts';
import type { HeaderTemplate } from '#ext-authz/policy/filter-settings.ts';
import type { GoMap, GoStruct, GoValue } from '#resources/template/go-type.ts';
import { goMap } from '#resources/template/go-value.ts';
import { goHeader } from '#resources/template/header.ts';
import { renderTemplate } from '#resources/template/render.ts';
import type { Template } from '#resources/template/template.ts';

/**
 * A template of a Filter failed, or its result cannot be a header. The message names Filter and
 * header, never a value.
 */
export class TemplateFault extends Error {
  override readonly name = 'TemplateFault';
}

/** Where a template is: a Filter's realm and one of its fields. */
export type TemplatePlace = { readonly realm: string; readonly field: string };

/** A tab may stand in a header (RFC 9110 section 5.5). */
const CONTROL = /[^\P{Cc}\t]/u;

/**
 * Returns the headers that templates render, by name. One that calls `doNotSet` is left out. Spaces
 * and tabs around a value are cut, because they are not part of the value (RFC 9110 section 5.5).
 * Throws a TemplateFault when a template fails or its result has a control character. The request
 * then gets 500. See docs/adr/0011-ext-authz.md.
 */
export function renderHeaders(
  templates: readonly HeaderTemplate[],
  data: () => GoValue,
  place: TemplatePlace,
): Map<string, string> {
  let made: GoValue | undefined;
  const once = (): GoValue => {
    made ??= data();
    return made;
  };
  const headers = new Map<string, string>();
  for (const { name, value } of templates) {
    const text = renderText(value, once, place, name);
    if (text === undefined) continue;
    if (CONTROL.test(text)) throw templateFault(place, name, 'the value has a control character');
    headers.set(name, withoutBlanks(text));
  }
  return headers;
}

/**
 * Renders a template. Throws a TemplateFault.
 * @returns undefined when it called `doNotSet`
 */
export function renderText(
  template: Template,
  data: () => GoValue,
  place: TemplatePlace,
  header?: string,
): string | undefined {
  const rendered = template.fixed ?? renderTemplate(template, data());
  if ('error' in rendered) throw templateFault(place, header, rendered.error);
  return 'text' in rendered ? rendered.text : undefined;
}

function templateFault({ field, realm }: TemplatePlace, header: string | undefined, error: string) {
  const name = header === undefined ? '' : `, header "${header}"`;
  return new TemplateFault(`Filter ${realm}: ${field}${name}: ${error}`);
}

/**
 * Returns the data of `injectRequestHeaders`. `asked` is called only when a template reads the
 * headers of the request, to which `Host` belongs. A JWT filter has no `.idToken`. See
 * docs/reference/kinds/filter.md.
 */
export function requestData(
  tokens: { readonly token: GoStruct; readonly idToken?: GoStruct },
  asked: () => AskedRequest,
): GoValue {
  return goMap([...Object.entries(tokens), ['httpRequestHeader', headerWhenRead(asked)] as const]);
}

/** What templates read of a request. */
export type AskedRequest = Pick<HttpRequest, 'authority' | 'headers'>;

const NO_HEADER = goHeader([]);

/**
 * Few templates read the request. Spelling all of its names costs more than the rest of a check.
 */
function headerWhenRead(asked: () => AskedRequest): GoMap {
  let made: GoMap['entries'] | undefined;
  return {
    ...NO_HEADER,
    get entries() {
      made ??= headerOf(asked()).entries;
      return made;
    },
  };
}

function headerOf({ authority, headers }: AskedRequest): GoMap {
  return goHeader([['host', [authority]], ...headers]);
}
