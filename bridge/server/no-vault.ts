/** Answer to a request for a vault that the bridge does not serve. */
export const NO_VAULT = 'No vault with this name';
