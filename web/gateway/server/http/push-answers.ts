import { pushAnswer } from '#shared/ports/push-port.ts';
import type { ApprovalDeliveries } from '../../automation/approvals/approval-deliveries.ts';
import type { Deliveries } from '../../automation/deliveries/deliveries.ts';
import type { PushDevices } from '../../automation/push/push-devices.ts';
import { isPushReceipt } from '../../automation/push/receipt-tokens.ts';
import type { Lazy } from '../../system/modules.ts';

export interface PushAnswersDeps {
  approvalDeliveries: Lazy<Pick<ApprovalDeliveries, 'answerPush'>>;
  pushDevices: Lazy<Pick<PushDevices, 'readReceipt'>>;
  deliveries: Lazy<Pick<Deliveries, 'receiveFromDevices'>>;
}

/** Handles a button or a receipt of a notification. */
export async function answerPush(request: Request, { approvalDeliveries, pushDevices, deliveries }: PushAnswersDeps): Promise<Response> {
  const body = pushAnswer.safeParse(await request.json().catch(() => undefined));
  if (!body.success) return Response.json({ outcome: 'unknown', message: 'This is not a button.' }, { status: 400 });
  const { value } = body.data;
  if (isPushReceipt(value)) {
    const receipt = await (await pushDevices.load()).readReceipt(value);
    if (!receipt) return Response.json({ outcome: 'unknown', message: 'This receipt is unknown.' }, { status: 404 });
    (await deliveries.load()).receiveFromDevices([receipt]);
    return Response.json({ outcome: 'received', message: 'Received.' });
  }
  const result = await (await approvalDeliveries.load()).answerPush(value);
  const isDone = result.outcome === 'approved' || result.outcome === 'denied';
  return Response.json(result, { status: isDone ? 200 : result.outcome === 'unknown' ? 404 : 409 });
}
