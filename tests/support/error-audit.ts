import type { Link } from '#shared/link/link.ts';
import { METHOD_ERROR_CODES, type MethodErrorCode } from '#shared/rpc/contract.ts';
import type { RequestFrame, ResponseFrame } from '#shared/rpc/frames.ts';
import { contracts, type MethodName } from '#shared/rpc/methods/index.ts';

/**
 * A link that checks the error code of each response against the contract of its method: unknown codes are added to `undeclared` as `method
 * CODE`.
 */
export function auditErrorCodes(link: Link<string>, undeclared: Set<string>): Link<string> {
  const methodsById = new Map<string, string>();
  const answered = (frame: ResponseFrame): void => {
    const method = methodsById.get(frame.id) as MethodName;
    methodsById.delete(frame.id);
    if (frame.ok) return;
    const code = frame.error.code as MethodErrorCode;
    if (Object.hasOwn(contracts, method) && METHOD_ERROR_CODES.includes(code) && !contracts[method].fails.includes(code)) {
      undeclared.add(`${method} ${code}`);
    }
  };
  return {
    get buffered() {
      return link.buffered;
    },
    send(text) {
      const { id, method } = parseFrame(text);
      if (id !== undefined && method !== undefined) methodsById.set(id, method);
      link.send(text);
    },
    close: (code, reason) => link.close(code, reason),
    receive: (handlers) =>
      link.receive({
        ...handlers,
        message(text) {
          const frame = JSON.parse(text) as ResponseFrame;
          if (frame.type === 'res' && methodsById.has(frame.id)) answered(frame);
          handlers.message(text);
        },
      }),
  };
}

/** Tests also send invalid frames. */
function parseFrame(text: string): Partial<RequestFrame> {
  try {
    return (JSON.parse(text) as Partial<RequestFrame> | null) ?? {};
  } catch {
    return {};
  }
}
