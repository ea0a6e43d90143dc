/** Begins the names of the statistics that Envoys keep for each route. */
export const ROUTE_SCOPE = 'route';

/** The counter of answers, by route and status. */
export const ROUTE_REQUESTS = 'requests';

/** The histogram of the time from a request's first byte to its answer's last, in ms, by route. */
export const ROUTE_TIME = 'request_time';

/** The label that has the name of the route. */
export const ROUTE_LABEL = 'envoy_route';

/** The label that has the status, as Envoy names it in the statistics of its own. */
export const STATUS_LABEL = 'envoy_response_code';
