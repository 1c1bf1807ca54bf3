/** A browser's subscription to push notifications, as it is stored (docs/decisions/0142-web-push.md). */
export interface PushDeviceRecord {
  /** Chosen by the browser. */
  id: string;
  name: string;
  /** Address at the push service. Whoever knows it and the gateway's key can send notifications. */
  endpoint: string;
  /** Keys of the subscription, in base64url. */
  keys: { p256dh: string; auth: string };
  createdAt: number;
  /** The paired device whose credential was used; revoking it ends the subscription. */
  pairedDeviceId?: string;
  /** The browser linked at a bridge that subscribed; unlinking it ends the subscription. */
  browserId?: string;
  lastSentAt?: number;
  problem?: string;
}
