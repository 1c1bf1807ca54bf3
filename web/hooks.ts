/** Routes an address that cannot be decoded to the "Page not found" page. SvelteKit alone would show nothing. */
export const reroute = ({ url }: { url: URL }): string | undefined =>
  isDecodable(__PERCH_DEMO__ ? url.hash : url.pathname) ? undefined : '/no-such-page';

function isDecodable(path: string): boolean {
  try {
    // Uses the result, since bundlers drop a call whose result is unused.
    return decodeURI(path).length >= 0;
  } catch {
    return false;
  }
}
