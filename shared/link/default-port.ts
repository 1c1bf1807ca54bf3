/** Where the bridge listens unless it is told otherwise. */
export const DEFAULT_PORT = 7333;
