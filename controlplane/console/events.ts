import type { ServerResponse } from 'node:http';

export type EventParts = {
  after(ms: number, callback: () => void): () => void;
};

export type Events = {
  /** Streams hints to this browser until it goes. Returns false when there are too many. */
  add(response: ServerResponse): boolean;
  /** Tells all browsers that something changed, soon and at most once a second. */
  changed(): void;
  close(): void;
};

/** Tabs that follow at the same time. */
const MOST_BROWSERS = 64;
/** A browser that leaves this many bytes unread is dropped. It connects again by itself. */
const MOST_UNREAD_BYTES = 4_096;
const PAUSE_MS = 1_000;
/**
 * Proxies between must not end a quiet stream. By the silence a browser knows that it is cut off.
 */
const ALIVE_MS = 15_000;

/**
 * Sends hints that something changed. What has changed is fetched by the browser, with an ETag, for
 * the screen that it shows. So a hint is the same few bytes for all.
 */
export function openEvents({ after }: EventParts): Events {
  const browsers = new Set<ServerResponse>();
  let number = 0;
  let stop: (() => void) | undefined;
  let stopAlive: (() => void) | undefined;
  const tell = (text: string) => {
    for (const browser of browsers)
      if (browser.writableLength > MOST_UNREAD_BYTES) browser.destroy();
      else browser.write(text);
  };
  const keepAlive = () => {
    stopAlive = after(ALIVE_MS, () => {
      tell('event: here\ndata: 0\n\n');
      keepAlive();
    });
  };
  return {
    add(response) {
      if (browsers.size >= MOST_BROWSERS) return false;
      browsers.add(response);
      response.once('close', () => {
        browsers.delete(response);
        if (browsers.size > 0) return;
        stopAlive?.();
        stopAlive = undefined;
      });
      response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
      response.write(`retry: 2000\nevent: changed\ndata: ${number}\n\n`);
      if (stopAlive === undefined) keepAlive();
      return true;
    },
    changed() {
      if (browsers.size === 0 || stop !== undefined) return;
      stop = after(PAUSE_MS, () => {
        stop = undefined;
        number += 1;
        tell(`event: changed\ndata: ${number}\n\n`);
      });
    },
    close() {
      stop?.();
      stopAlive?.();
      for (const browser of browsers) browser.destroy();
    },
  };
}
