import { parseDuration } from '#resources/words/duration.ts';
import type { Fields } from '#resources/words/fields.ts';
import { fieldsAt, listAt, textAt } from '../fields-at.ts';
import { dropped, type Remark } from '../remark.ts';

/** As Gateway API has it. */
const ORIGIN = /^(?:\*|https?:\/\/(?:\*|(?:\*\.)?[\w.-]+)(?::\d{1,5})?)$/;

/** Returns the filter of a rule for pages of other origins. */
export function corsFilter(written: unknown): {
  readonly filters: readonly Fields[];
  readonly remarks: readonly Remark[];
} {
  if (written === undefined) return { filters: [], remarks: [] };
  const origins = listAt(written, 'allowOrigins').map(String);
  const readable = origins.filter(origin => ORIGIN.test(origin));
  const age = parseDuration(textAt(written, 'maxAge') ?? '');
  const seconds = 'value' in age ? Math.round(age.value / 1000) : 0;
  const { allowCredentials } = fieldsAt(written);
  const cors = {
    allowOrigins: readable,
    ...(allowCredentials === true ? { allowCredentials } : {}),
    ...listField(written, 'allowMethods'),
    ...listField(written, 'allowHeaders'),
    ...listField(written, 'exposeHeaders'),
    ...(seconds > 0 ? { maxAge: seconds } : {}),
  };
  const lost = origins.filter(origin => !readable.includes(origin));
  return {
    filters: readable.length === 0 ? [] : [{ type: 'CORS', cors }],
    remarks: lost.map(origin =>
      dropped(['spec', 'cors', 'allowOrigins'], `"${origin}" is no origin of Gateway API`),
    ),
  };
}

function listField(written: unknown, field: string): Fields {
  const list = listAt(written, field);
  return list.length === 0 ? {} : { [field]: list };
}
