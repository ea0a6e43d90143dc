import { parseCorsOrigin } from '#resources/traffic/cors-origin.ts';
import type { Part } from '../part.ts';
import { NOTHING } from '../part.ts';
import { changed, dropped, type Remark } from '../remark.ts';
import { type Annotations, annotationPath, listOf } from './annotations.ts';
import { numberOf } from './traffic.ts';

const METHODS = 'GET, PUT, POST, DELETE, PATCH, OPTIONS';
const HEADERS =
  'DNT,Keep-Alive,User-Agent,X-Requested-With,If-Modified-Since,Cache-Control,Content-Type,Range,Authorization';
const MAX_AGE_S = 1_728_000;

/** Returns which pages may read the answers, with the defaults of ingress-nginx. */
export function cors(annotations: Annotations): Part {
  if (!annotations.on('enable-cors')) return NOTHING;
  const get = (name: string, fallback: string) => annotations.get(`cors-${name}`) ?? fallback;
  const written = listOf(get('allow-origin', '*'));
  const origins = written.filter(origin => 'value' in parseCorsOrigin(origin));
  const open = origins.includes('*');
  const exposed = listOf(annotations.get('cors-expose-headers'));
  const allowed = get('allow-credentials', 'true') !== 'false';
  return {
    fields: {
      cors: {
        origins,
        methods: listOf(get('allow-methods', METHODS)),
        headers: listOf(get('allow-headers', HEADERS)),
        ...(allowed && !open ? { credentials: true } : {}),
        ...(exposed.length === 0 ? {} : { exposed_headers: exposed }),
        max_age: numberOf(annotations.get('cors-max-age')) ?? MAX_AGE_S,
      },
    },
    remarks: [
      ...written.filter(origin => !origins.includes(origin)).map(unreadable),
      ...origins.filter(origin => origin.includes('*.')).map(deeper),
    ],
  };
}

function unreadable(origin: string): Remark {
  return dropped(annotationPath('cors-allow-origin'), `${origin} is no origin. Write its scheme`);
}

function deeper(origin: string): Remark {
  return changed(
    annotationPath('cors-allow-origin'),
    `${origin} is for hosts of any depth below it. List the hosts if strangers have one`,
  );
}
