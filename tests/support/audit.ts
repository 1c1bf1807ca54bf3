import type { Link } from '#shared/link/link.ts';
import { OWN_CODES, type OwnCode } from '#shared/rpc/contract.ts';
import type { RequestFrame, ResponseFrame } from '#shared/rpc/frames.ts';
import { contracts, type MethodName } from '#shared/rpc/methods/index.ts';

/**
 * A link that checks the error code of each response against the contract of its method: unknown codes are added to `undeclared` as `method
 * CODE`.
 */
export function audited(link: Link<string>, undeclared: Set<string>): Link<string> {
  const asked = new Map<string, string>();
  const answered = (frame: ResponseFrame): void => {
    const method = asked.get(frame.id) as MethodName;
    asked.delete(frame.id);
    if (frame.ok) return;
    const code = frame.error.code as OwnCode;
    if (Object.hasOwn(contracts, method) && OWN_CODES.includes(code) && !contracts[method].fails.includes(code)) {
      undeclared.add(`${method} ${code}`);
    }
  };
  return {
    get buffered() {
      return link.buffered;
    },
    send(text) {
      const { id, method } = readable(text);
      if (id !== undefined && method !== undefined) asked.set(id, method);
      link.send(text);
    },
    close: (code, reason) => link.close(code, reason),
    receive: (handlers) =>
      link.receive({
        ...handlers,
        message(text) {
          const frame = JSON.parse(text) as ResponseFrame;
          if (frame.type === 'res' && asked.has(frame.id)) answered(frame);
          handlers.message(text);
        },
      }),
  };
}

/** Tests also send invalid frames. */
function readable(text: string): Partial<RequestFrame> {
  try {
    return (JSON.parse(text) as Partial<RequestFrame> | null) ?? {};
  } catch {
    return {};
  }
}
