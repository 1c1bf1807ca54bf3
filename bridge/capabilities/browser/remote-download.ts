import type { CDPSession, Page } from 'playwright';

/** Bytes per read of a stream. */
const READ_BYTES = 256 * 1024;

/** A download of a remote browser's page. */
export interface RemoteDownload {
  filename: string;
  /** Fetches its bytes. Rejects with an error for the user if that fails or there are more than `maxBytes`. */
  fetch(maxBytes: number, tooLarge: string): Promise<Buffer>;
}

/**
 * Reports the downloads of a remote page. Their files stay on that machine without access, so the bytes are fetched by another request of
 * that browser with its cookies (CDP, `Network.loadNetworkResource`).
 */
export async function watchRemoteDownloads(page: Page, onDownload: (download: RemoteDownload) => void): Promise<void> {
  const session = await page.context().newCDPSession(page);
  session.on('Page.downloadWillBegin', ({ frameId, url, suggestedFilename: filename }) =>
    onDownload({ filename, fetch: (maxBytes, tooLarge) => fetchRemotely(session, { frameId, url, maxBytes, tooLarge }) }),
  );
  await session.send('Page.enable');
}

interface FetchOptions {
  frameId: string;
  url: string;
  maxBytes: number;
  tooLarge: string;
}

async function fetchRemotely(session: CDPSession, { frameId, url, maxBytes, tooLarge }: FetchOptions): Promise<Buffer> {
  if (!/^https?:/.test(url)) throw new Error('The file was created by the page and stays on the browser’s computer');
  const options = { disableCache: false, includeCredentials: true };
  const { resource } = await session.send('Network.loadNetworkResource', { frameId, url, options });
  const { success, stream: handle, httpStatusCode: status = 0, netErrorName } = resource;
  if (!success || handle === undefined || status >= 400)
    throw new Error(`Couldn’t fetch the file again (${status || (netErrorName ?? 'no response')}). It stays on the browser’s computer.`);
  try {
    const chunks: Buffer[] = [];
    for (let bytes = 0, isOver = false; !isOver;) {
      const { data, base64Encoded, eof } = await session.send('IO.read', { handle, size: READ_BYTES });
      const chunk = Buffer.from(data, base64Encoded ? 'base64' : 'utf8');
      if ((bytes += chunk.length) > maxBytes) throw new Error(tooLarge);
      chunks.push(chunk);
      isOver = eof;
    }
    return Buffer.concat(chunks);
  } finally {
    void session.send('IO.close', { handle }).catch(() => {});
  }
}
