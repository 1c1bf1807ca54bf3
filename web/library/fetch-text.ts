/** Fetches the text at a URL, which may be relative to the page. Rejects with an Error if it cannot be fetched. */
export async function fetchText(url: string): Promise<string> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
  return response.text();
}
