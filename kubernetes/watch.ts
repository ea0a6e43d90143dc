import type { IncomingMessage } from 'node:http';
import { StringDecoder } from 'node:string_decoder';
import { type Cluster, errorBody, toClusterError } from './cluster.ts';
import { ClusterError } from './cluster-error.ts';
import {
  hasMetadata,
  isKubernetesObject,
  isRecord,
  type KubernetesObject,
} from './kubernetes-object.ts';
import { lineSplitter } from './lines.ts';
import { refused, type Selection } from './list.ts';
import { describeResource, resourcePath } from './resource.ts';

export type WatchEvent =
  | { readonly kind: 'changed' | 'deleted'; readonly object: KubernetesObject }
  /** Nothing has changed up to this version. */
  | { readonly kind: 'bookmark'; readonly resourceVersion: string };

export type WatchOptions = Selection & {
  readonly resourceVersion: string;
  /** The server ends the watch after this time, with a bookmark before. */
  readonly timeoutSeconds: number;
  /** Called when the server has answered. From now on nothing is missed. */
  onOpen(): void;
  onEvent(event: WatchEvent): void;
};

const MAX_EVENT_LENGTH = 32 * 1024 * 1024;
const MAX_ERROR_LENGTH = 100_000;

/**
 * Watches from a version on, until the server ends it (resolves) or the signal aborts it. See
 * Kubernetes API concepts, efficient detection of changes.
 * @throws ClusterError. Status 410 means that the version is too old, by HTTP or by an ERROR event
 */
export async function watchObjects(
  cluster: Cluster,
  options: WatchOptions,
  signal: AbortSignal,
): Promise<void> {
  const { resource, resourceVersion, timeoutSeconds, fieldSelector, labelSelector } = options;
  const query = {
    watch: 'true',
    allowWatchBookmarks: 'true',
    resourceVersion,
    timeoutSeconds: String(timeoutSeconds),
    fieldSelector,
    labelSelector,
  };
  const answer = await cluster.open({ method: 'GET', path: resourcePath(resource), query }, signal);
  if (answer.statusCode !== 200) {
    const message = await shortBody(answer);
    throw refused(cluster, resource, 'watch', answer.statusCode ?? 0, message);
  }
  options.onOpen();
  try {
    await readEvents(answer, line => options.onEvent(parseEvent(line, cluster, options)));
  } catch (error) {
    answer.destroy();
    throw toClusterError(cluster.server, error);
  }
}

async function readEvents(answer: IncomingMessage, onLine: (line: string) => void): Promise<void> {
  const decoder = new StringDecoder('utf8');
  const split = lineSplitter(MAX_EVENT_LENGTH, onLine);
  for await (const chunk of answer) split(decoder.write(chunk));
}

function parseEvent(line: string, cluster: Cluster, { resource }: WatchOptions): WatchEvent {
  const event: unknown = JSON.parse(line);
  const { type, object } = isRecord(event) ? event : {};
  if (type === 'ERROR') {
    const code = isRecord(object) && typeof object.code === 'number' ? object.code : 500;
    throw refused(cluster, resource, 'go on watching', code, object);
  }
  if (type === 'BOOKMARK' && hasMetadata(object))
    return { kind: 'bookmark', resourceVersion: String(object.metadata.resourceVersion) };
  if (isKubernetesObject(object)) {
    if (type === 'ADDED' || type === 'MODIFIED') return { kind: 'changed', object };
    if (type === 'DELETED') return { kind: 'deleted', object };
  }
  throw new ClusterError(
    `${cluster.server} sends no event to a watch of ${describeResource(resource)}`,
  );
}

/** Reads the beginning of an answer that is an error. */
async function shortBody(answer: IncomingMessage): Promise<unknown> {
  let text = '';
  for await (const chunk of answer) {
    text += String(chunk);
    if (text.length > MAX_ERROR_LENGTH) break;
  }
  return errorBody(text);
}
