/** Thrown in place of a response that is larger than a server makes. It ends the stream. */
export class ResponseTooLarge extends Error {}
