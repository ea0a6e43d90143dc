export const DOMAIN = 'bench';
/** A minute; more than is ever asked: the limits are counted, not reached. */
export const RATE = 4_000_000_000;
