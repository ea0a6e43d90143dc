/** Returns the text of a variable, or '' when it is not set. */
export type Text = (name: string) => string;

/** Each variable of the exporter has a form for traces alone, which counts instead. */
const PREFIXES = ['OTEL_EXPORTER_OTLP_', 'OTEL_EXPORTER_OTLP_TRACES_'];

const FILES = ['CERTIFICATE', 'CLIENT_CERTIFICATE', 'CLIENT_KEY'];

const NAME = /^[!#$%&'*+.^_`|~\da-z-]+$/i;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]+$/;

/**
 * Checks the values that OpenTelemetry's exporter reads by itself. It goes on without one that it
 * does not understand, so spans would go out without the token or the authorities.
 * @throws an Error that names the variable and what it should be. It has no value in it, since a
 * header may hold a token.
 */
export function checkExporterVariables(text: Text): void {
  const each = (variable: string, isRight: (value: string) => boolean, wanted: string) => {
    for (const name of PREFIXES.map(prefix => prefix + variable))
      if (text(name) !== '' && !isRight(text(name))) throw new Error(`${name}: want ${wanted}`);
  };
  each('HEADERS', isHeaders, '`name=value` with commas between, and %XX for other characters');
  each('TIMEOUT', value => Number(value) > 0 && Number.isFinite(Number(value)), 'ms above 0');
  each('COMPRESSION', value => ['gzip', 'none'].includes(value), '`gzip` or `none`');
  const attributes = 'OTEL_RESOURCE_ATTRIBUTES';
  if (text(attributes) !== '' && !pairsOf(text(attributes)))
    throw new Error(`${attributes}: want \`key=value\` with commas between`);
}

/** Returns the files that the exporter reads, by the variables that name them. */
export function exporterFiles(text: Text): readonly (readonly [variable: string, file: string])[] {
  return PREFIXES.flatMap(prefix => FILES.map(file => prefix + file))
    .map(name => [name, text(name)] as const)
    .filter(([, file]) => file !== '');
}

function isHeaders(value: string): boolean {
  return (
    pairsOf(value)?.every(([name, text]) => NAME.test(name) && HEADER_VALUE.test(text)) ?? false
  );
}

/** Returns the pairs of a list, or undefined when one of them is none. */
function pairsOf(list: string): readonly (readonly [name: string, value: string])[] | undefined {
  try {
    const items = list.split(',').filter(item => item.trim() !== '');
    return items.map(item => {
      const [, name = '', value = ''] = /^([^=]+)=(.*)$/s.exec(item.trim()) ?? [];
      if (name === '' || value === '') throw new Error('no pair');
      return [decodeURIComponent(name.trim()), decodeURIComponent(value.trim())];
    });
  } catch {
    return undefined;
  }
}
