/** The system's tenant that stores erasures, receipts and holds: removing a workspace does not remove them. */
export const governanceTenant = "pinakes.governance";
