/** Default port of the bridge. */
export const DEFAULT_PORT = 7333;
