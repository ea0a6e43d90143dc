/** Bounds of what the proxies' figures may make the control plane remember. */
export const MAX_GROUPS = 1_000;
/** Mappings beyond this number are counted as one, OTHERS. */
export const MAX_MAPPINGS = 20_000;
/** Clusters of all groups. Those beyond are left out. */
export const MAX_UPSTREAMS = 40_000;
/** How often a proxy sees a cluster, in all. Members beyond are left out. */
export const MAX_VIEWS = 400_000;
/** Requests that are kept: those that did not fail, and those that failed. */
export const MAX_SAMPLES = 8_000;
export const MAX_FAILURES = 4_000;
/** Requests that are read in a second. The others are skipped. No group displaces all others. */
export const MAX_SAMPLES_A_SECOND = 2_000;
export const MAX_SAMPLES_OF_GROUP_A_SECOND = 1_000;
/** Bytes of a message. */
export const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;
/** Streams of figures: of all clients, and on one connection. */
export const MAX_STREAMS = 16_384;
export const MAX_STREAMS_OF_CONNECTION = 64;

/** The id of the Mappings that are counted as one. */
export const OTHERS = 'others';
