import type { Opening } from '#shared/link/hello.ts';
import { serveHttp } from '#shared/link/http.ts';
import { ended, receipt, receipts } from '#shared/link/splice.ts';
import type { Stream } from '#shared/link/stream.ts';
import type { Gateway } from '../core/gateway-options.ts';

/** Receives reports of calls that the bridge has passed through; responds once they are stored. */
export function serveReceipts(stream: Stream, opening: Opening, gateway: () => Promise<Pick<Gateway, 'keepReceipts' | 'noted'>>): void {
  serveHttp(stream, opening, 'http://receipts.invalid', async (request) => {
    const given = receipts.parse(await request.json());
    const { keepReceipts, noted } = await gateway();
    const read = given.map((each) => receipt.safeParse(each));
    // A report that cannot be parsed will never be: sent again and again, it would block all others.
    for (const { error } of read) if (error) noted('http', error);
    await keepReceipts(read.flatMap(({ data }) => data ?? []));
    return new Response(null, { status: 204 });
  });
}

/** Receives the bridge's reports of failed streams, including those served by a cached decision. */
export function serveEnded(stream: Stream, opening: Opening, gateway: () => Promise<Pick<Gateway, 'tellOfEnd'>>): void {
  serveHttp(stream, opening, 'http://ended.invalid', async (request) => {
    const given = ended.parse(await request.json());
    return new Response(await (await gateway()).tellOfEnd(given, request.signal));
  });
}
