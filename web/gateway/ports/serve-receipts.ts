import type { Opening } from '#shared/link/hello.ts';
import { serveHttp } from '#shared/link/stream-http.ts';
import { spliceFailure, usageReceipt, usageReceipts } from '#shared/link/splice.ts';
import type { Stream } from '#shared/link/stream.ts';
import type { Gateway } from '../gateway-options.ts';

/** Receives reports of calls that the bridge has passed through; responds once they are stored. */
export function serveReceipts(stream: Stream, opening: Opening, gateway: () => Promise<Pick<Gateway, 'storeReceipts' | 'logError'>>): void {
  serveHttp(stream, opening, 'http://receipts.invalid', async (request) => {
    const body = usageReceipts.parse(await request.json());
    const { storeReceipts, logError } = await gateway();
    const parsed = body.map((each) => usageReceipt.safeParse(each));
    // A report that cannot be parsed will never be: sent again and again, it would block all others.
    for (const { error } of parsed) if (error) logError('http', error);
    await storeReceipts(parsed.flatMap(({ data }) => data ?? []));
    return new Response(null, { status: 204 });
  });
}

/** Receives the bridge's reports of failed streams, including those served by a cached decision. */
export function serveStreamEnds(stream: Stream, opening: Opening, gateway: () => Promise<Pick<Gateway, 'writeSpliceFailure'>>): void {
  serveHttp(stream, opening, 'http://ended.invalid', async (request) => {
    const streamEnd = spliceFailure.parse(await request.json());
    return new Response(await (await gateway()).writeSpliceFailure(streamEnd, request.signal));
  });
}
