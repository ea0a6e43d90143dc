/** Certificates begin this long, in ms, before they are made: clocks of different machines differ. */
export const SKEW_MS = 60_000;
