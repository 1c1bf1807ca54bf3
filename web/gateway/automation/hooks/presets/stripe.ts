import { createReader, joinLines, type Preset } from './preset.ts';

/** Currencies whose amounts have no decimals (https://docs.stripe.com/currencies#zero-decimal). */
const WHOLE_CURRENCIES = 'bif clp djf gnf jpy kmf krw mga pyg rwf ugx vnd vuv xaf xof xpf'.split(' ');

/** Webhooks of Stripe (https://docs.stripe.com/api/events). */
export const stripe: Preset = {
  summarize(_headers, payload) {
    const read = createReader(payload);
    const event = read('$.type');
    const id = read('$.id');
    const mode = read('$.livemode') === 'false' ? ' (test mode)' : '';
    const who = read('$.data.object.customer_email') || read('$.data.object.receipt_email') || read('$.data.object.email');
    return {
      event,
      message: joinLines(
        `Stripe: ${event}${mode}`,
        `${read('$.data.object.object')} ${read('$.data.object.id')}`.trim(),
        formatAmount(
          read('$.data.object.amount') || read('$.data.object.amount_due') || read('$.data.object.amount_total'),
          read('$.data.object.currency'),
        ),
        who === '' ? '' : `Customer: ${who}`,
        read('$.data.object.status') === '' ? '' : `Status: ${read('$.data.object.status')}`,
      ),
      ...(id === '' ? {} : { id }),
    };
  },
  sample: {
    headers: {},
    payload: {
      id: 'evt_sample',
      type: 'payment_intent.succeeded',
      livemode: false,
      data: { object: { object: 'payment_intent', id: 'pi_sample', amount: 4200, currency: 'eur', status: 'succeeded' } },
    },
  },
};

function formatAmount(amount: string, currency: string): string {
  if (!/^\d+$/.test(amount) || currency === '') return '';
  const value = WHOLE_CURRENCIES.includes(currency) ? amount : (Number(amount) / 100).toFixed(2);
  return `Amount: ${value} ${currency.toUpperCase()}`;
}
