/** Why no request has a header with `_` in its name. */
export const UNDERSCORE =
  'it matches nothing: the edge answers 400 to a header with "_" in its name';

/** Why no route changes the header `server`, which the edge writes over all, last. */
export const OWN_SERVER = 'the edge writes `server` itself: `server_name` of the Module says what';
