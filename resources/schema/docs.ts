import * as z from 'zod';
import type { KindDefinition } from './kind.ts';
import { defaultOf, itemOf, metaOf, shapeOf, unwrap } from './schema-walk.ts';

type Row = {
  readonly field: string;
  readonly type: string;
  readonly fallback: string;
  readonly meaning: string;
};

/** Returns the table of a kind's fields, in Markdown: field, type, default and meaning. */
export function kindTable(definition: KindDefinition): string {
  const root = definition.fieldsAt === 'spec' ? 'spec.' : '';
  const rows = rowsOf(definition.schema, root).map(({ field, type, fallback, meaning }) => {
    const cells = [`\`${field}\``, type, fallback, meaning].map(cell =>
      cell.replaceAll('|', '\\|'),
    );
    return `| ${cells.join(' | ')} |`;
  });
  return ['| field | type | default | meaning |', '|---|---|---|---|', ...rows, ''].join('\n');
}

function rowsOf(schema: z.core.$ZodType, prefix: string): readonly Row[] {
  return Object.entries(shapeOf(schema) ?? {}).flatMap(([name, field]) => {
    const { path, leaf } = descend(`${prefix}${name}`, field);
    const row = {
      field: `${prefix}${name}`,
      type: typeOf(field),
      fallback: fallbackOf(field),
      meaning: metaOf(field).description ?? '',
    };
    return metaOf(field).describedElsewhere === true ? [row] : [row, ...rowsOf(leaf, `${path}.`)];
  });
}

/** Follows lists and maps to what they hold: `clusters[]`, `default_labels.<key>`. */
function descend(path: string, schema: z.core.$ZodType): { path: string; leaf: z.core.$ZodType } {
  const item = itemOf(schema);
  if (item === undefined) return { path, leaf: schema };
  return descend(unwrap(schema) instanceof z.core.$ZodArray ? `${path}[]` : `${path}.<key>`, item);
}

function typeOf(schema: z.core.$ZodType): string {
  const inner = unwrap(schema);
  if (inner instanceof z.core.$ZodEnum)
    return Object.values(inner._zod.def.entries)
      .map(value => `\`${value}\``)
      .join(', ');
  if (inner instanceof z.core.$ZodBoolean) return 'bool';
  const { form } = metaOf(schema);
  if (form !== undefined) return form.replace(/^an? /, '');
  if (inner instanceof z.core.$ZodNumber) return 'integer';
  if (inner instanceof z.core.$ZodArray) return `list of ${typeOf(inner._zod.def.element)}`;
  if (inner instanceof z.core.$ZodRecord) return `map to ${typeOf(inner._zod.def.valueType)}`;
  return inner instanceof z.core.$ZodObject ? 'object' : 'string';
}

function fallbackOf(schema: z.core.$ZodType): string {
  const { required, value } = defaultOf(schema);
  if (required) return '*required*';
  return value === undefined ? '' : `\`${JSON.stringify(value)}\``;
}
