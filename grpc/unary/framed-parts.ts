import { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Connection } from '#grpc/http2/connection.ts';
import { ERROR } from '#grpc/http2/error-code.ts';
import type { RequestReader, Stream } from '#grpc/http2/stream.ts';
import type { AnswerParts } from './reflection-stream.ts';

/**
 * Answers a streaming method on a stream of our own HTTP/2 framing. It reads and writes no faster
 * than its peer.
 */
export function answerFramedParts(
  connection: Connection,
  stream: Stream,
  answers: AnswerParts,
): RequestReader {
  const { session } = connection;
  let unread = 0;
  const duplex = new Duplex({
    read: () => {
      session.streams.read(stream, unread);
      unread = 0;
      connection.wrote();
    },
    write: (bytes: Buffer, _encoding, sent) => {
      if (stream.isClosed) return;
      session.streams.sender.data(stream, bytes, sent);
      connection.wrote();
    },
    final: done => {
      if (!stream.isClosed) session.streams.sender.ok(stream);
      connection.wrote();
      done();
    },
  });
  session.streams.sender.begin(stream);
  pipeline(duplex, answers, duplex).catch(() => {
    session.streams.reset(stream, ERROR.internalError);
    connection.wrote();
  });
  return {
    data: (bytes, isEnd) => {
      unread += bytes.length;
      duplex.push(Buffer.from(bytes));
      if (isEnd) duplex.push(null);
      return false;
    },
    end: () => void duplex.push(null),
    close: () => void duplex.destroy(),
  };
}
