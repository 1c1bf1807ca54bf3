/** The text at an address, which may be relative to the page. Rejects with an Error where it cannot be had. */
export async function fetchedText(url: string): Promise<string> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
  return response.text();
}
