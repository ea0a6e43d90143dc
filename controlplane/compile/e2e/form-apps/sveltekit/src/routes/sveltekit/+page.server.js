export const actions = { default: () => ({ posted: true }) };
